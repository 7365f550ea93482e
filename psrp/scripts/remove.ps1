# Removes a file, if it is there.
param([string] $Path)
$ErrorActionPreference = 'Stop'
[System.IO.File]::Delete($Path)
