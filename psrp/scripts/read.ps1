# Writes $Count bytes of a file from $Offset on, as byte arrays of $BlockSize.
param([string] $Path, [long] $Offset, [long] $Count, [int] $BlockSize)
$ErrorActionPreference = 'Stop'
$file = [System.IO.File]::Open($Path, 'Open', 'Read', 'ReadWrite')
try {
    [void] $file.Seek($Offset, 'Begin')
    while ($Count -gt 0) {
        $block = New-Object byte[] ([int] [System.Math]::Min($Count, $BlockSize))
        $got = $file.Read($block, 0, $block.Length)
        if ($got -eq 0) {
            break
        }
        if ($got -lt $block.Length) {
            $part = New-Object byte[] $got
            [System.Array]::Copy($block, $part, $got)
            $block = $part
        }
        , $block
        $Count -= $got
    }
} finally {
    $file.Dispose()
}
