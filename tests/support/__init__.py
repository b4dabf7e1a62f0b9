"""What tests of several rooms share: made files, commands in this process, peers from other libraries."""
