"""The store on one machine: tables of one SQLite file that several processes share."""
