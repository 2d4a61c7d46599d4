import { cellsOf, runCell } from './cells'
import { rows } from './rows-platform'

describe('the fault matrix, token endpoint, REST API and forgotten sessions', () => {
  test.concurrent.each(cellsOf(rows))('row $row: $name: $column', async ({ column, ...row }) => runCell(row, column))
})
