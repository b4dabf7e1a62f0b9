"""Readers of formats: tables, tar files, parquet, folders of images and frames; bases of data sets."""
