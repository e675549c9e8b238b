"""The web panel: its built files, and the headers that they are served with."""
