"""The tours through the screens, by topic. Importing one adds it to `snapshot_tour.TOURS`."""
