"""The executable file format and the compilation cache: members, manifest, digests."""
