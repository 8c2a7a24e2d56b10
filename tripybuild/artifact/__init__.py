"""The executable file format: members, manifest, digests."""
