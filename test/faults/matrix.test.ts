import { columns } from './cells'
import { rows as ofPlatform } from './rows-platform'
import { rows as ofProcesses } from './rows-processes'
import { rows as ofSso } from './rows-sso'
import { rows as ofStore } from './rows-store'

const rows = [...ofSso, ...ofPlatform, ...ofStore, ...ofProcesses]
const numbers = [...Array.from({ length: 19 }, (_, index) => `${index + 1}`), '8b']

test('every kind of fault meets every kind of visitor; only a new one has no session that could be forgotten', () => {
  const covered = new Set(rows.flatMap(({ row, cells }) => Object.keys(cells).map((column) => `${row} ${column}`)))
  const all = numbers.flatMap((row) => columns.map((column) => `${row} ${column}`))
  expect(all.filter((cell) => !covered.has(cell))).toEqual(['8b new'])
  expect(rows.filter(({ row }) => !numbers.includes(row))).toEqual([])
})
