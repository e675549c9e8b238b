"""Policy files, and the presets that ship."""
