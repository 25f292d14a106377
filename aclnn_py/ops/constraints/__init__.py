"""What each operator accepts: a module per operator, loaded when asked for. See `diagnosis.rules`."""
