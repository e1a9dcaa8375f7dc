"""Submit, claim, finish, retry and repair of tasks, written once over the ports."""
