// Writes testdata/cldr48.tsv of pdf/internal/compile/locale: what ICU 78 (CLDR 48), as Node 20 has
// it, makes of the values below, rounding half to even. Columns: locale, format, value, text.
//
//	node tools/locales/oracle.mjs de en ... > pdf/internal/compile/locale/testdata/cldr48.tsv
const numbers = ['0', '1', '-1', '7.5', '999', '1000', '1234.5', '-1234.56', '12345', '99999.999',
  '100000', '1234567.891', '-12345678.9', '1234567890123']
const currencies = ['EUR', 'USD', 'INR', 'JPY', 'GBP', 'CHF', 'PLN', 'KWD', 'SEK', 'BRL', 'CAD']
const shares = ['0', '0.075', '0.5', '1', '-0.123', '12.5', '1234.5']
const times = ['2026-01-05T09:04:05Z', '2024-02-29T00:00:00Z', '1999-12-31T23:59:59Z', '2026-03-10T12:30:00Z',
  '2025-09-14T18:07:09Z', '2025-05-01T13:00:00Z', '2025-06-30T01:00:00Z', '2025-07-01T01:00:00Z',
  '2025-08-01T01:00:00Z', '2025-10-01T01:00:00Z', '2025-11-19T01:00:00Z', '2025-04-18T01:00:00Z']
const counts = ['0', '1', '1.0', '1.5', '2', '3', '5', '11', '12', '14', '21', '22', '25', '100', '101', '102',
  '112', '1000', '1000000', '2000000', '1000001', '0.5', '0.0', '2.0']
const styles = ['short', 'medium', 'long', 'full']
// V8 prints the narrow no-break space of these before the half of the day as a space.
const narrow = ['en', 'en-IN', 'es-MX']
const rounding = { roundingMode: 'halfEven' }

for (const tag of process.argv.slice(2)) {
  const line = (format, value, text) => console.log([tag, format, value, text].join('\t'))
  const places = n => ({ minimumFractionDigits: n, maximumFractionDigits: n, ...rounding })
  const half = s => narrow.includes(tag) ? s.replace(/ (?=[ap]\.?\s?m)/i, '\u202f') : s
  for (const v of numbers) {
    for (const n of [0, 2]) line(`number ${n}`, v, new Intl.NumberFormat(tag, places(n)).format(v))
    for (const currency of currencies) {
      line(`money ${currency}`, v, new Intl.NumberFormat(tag, { style: 'currency', currency, ...rounding }).format(v))
    }
  }
  for (const v of shares) line('percent 1', v, new Intl.NumberFormat(tag, { style: 'percent', ...places(1) }).format(v))
  for (const v of times) {
    const show = o => new Intl.DateTimeFormat(tag, { timeZone: 'UTC', calendar: 'gregory', ...o }).format(new Date(v))
    const time = o => half(show(o))
    for (const dateStyle of styles) line(`date ${dateStyle}`, v, show({ dateStyle }))
    for (const timeStyle of ['short', 'medium']) line(`time ${timeStyle}`, v, time({ timeStyle }))
    for (const dateStyle of styles) line(`datetime ${dateStyle}`, v, time({ dateStyle, timeStyle: 'short' }))
  }
  for (const v of counts) {
    const n = v.includes('.') ? v.split('.')[1].length : 0
    line('plural', v, new Intl.PluralRules(tag, { minimumFractionDigits: n }).select(+v))
  }
  for (const v of ['a', 'a|b', 'a|b|c', 'a|b|c|d']) {
    for (const [name, type] of [['and', 'conjunction'], ['or', 'disjunction']]) {
      line(`list ${name}`, v, new Intl.ListFormat(tag, { style: 'long', type }).format(v.split('|')))
    }
  }
}
