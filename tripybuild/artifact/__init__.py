"""The executable's file and the compilation cache: members, manifest, digests."""
