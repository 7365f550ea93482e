# Appends the byte arrays that are piped in to a file of $Offset bytes, makes that file when it is
# to be empty, and writes its new size.
param([string] $Path, [long] $Offset)
$ErrorActionPreference = 'Stop'
$mode = 'Open'
if ($Offset -eq 0) {
    $mode = 'CreateNew'
}
$file = [System.IO.File]::Open($Path, $mode, 'Write', 'None')
try {
    if ($file.Length -ne $Offset) {
        throw "'$Path' was changed by others."
    }
    [void] $file.Seek($Offset, 'Begin')
    foreach ($block in $input) {
        [byte[]] $bytes = $block
        $file.Write($bytes, 0, $bytes.Length)
    }
    $file.Length
} finally {
    $file.Dispose()
}
