"""What `profile.watch` does around a data loader and inside of its workers."""
