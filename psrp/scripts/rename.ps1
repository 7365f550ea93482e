# Gives a file its name if its SHA-256 is $Hash, and writes the SHA-256 that it has.
param([string] $From, [string] $To, [string] $Hash, [bool] $Overwrite)
$ErrorActionPreference = 'Stop'
$found = (Microsoft.PowerShell.Utility\Get-FileHash -LiteralPath $From -Algorithm SHA256).Hash
if ($found -eq $Hash) {
    if ($Overwrite -and [System.IO.File]::Exists($To)) {
        [System.IO.File]::Replace($From, $To, [NullString]::Value)
    } else {
        [System.IO.File]::Move($From, $To)
    }
}
$found
