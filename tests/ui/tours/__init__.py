"""The tours through the screens, by what they show. Importing one adds it to `snapshot_tour.TOURS`."""
