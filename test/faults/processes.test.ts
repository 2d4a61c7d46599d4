import { cellsOf, runCell } from './cells'
import { rows } from './rows-processes'

describe('the fault matrix, failover, processes and parallel requests', () => {
  test.concurrent.each(cellsOf(rows))('row $row: $name: $column', async ({ column, ...row }) => runCell(row, column))
})
