import { cellsOf, runCell } from './cells'
import { rows } from './rows-store'

describe('the fault matrix, Redis', () => {
  test.concurrent.each(cellsOf(rows))('row $row: $name: $column', async ({ column, ...row }) => runCell(row, column))
})
