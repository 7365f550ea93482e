# Says what is at a path of any form that PowerShell knows, such as ~/a or Temp:\a.
param([string] $Path, [bool] $WithHash)
$ErrorActionPreference = 'Stop'
$provider = $null
$drive = $null
$full = $ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath($Path, [ref] $provider, [ref] $drive)
if ($provider.Name -ne 'FileSystem') {
    throw "'$Path' is not in a file system."
}
$exists = [System.IO.File]::Exists($full)
$size = [long] 0
$hash = ''
if ($exists) {
    $size = (New-Object System.IO.FileInfo $full).Length
    if ($WithHash) {
        $hash = (Microsoft.PowerShell.Utility\Get-FileHash -LiteralPath $full -Algorithm SHA256).Hash
    }
}
New-Object psobject -Property @{ Path = $full; Exists = $exists; IsDirectory = [System.IO.Directory]::Exists($full); Size = $size; Hash = $hash }
