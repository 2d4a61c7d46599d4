import { cellsOf, runCell } from './cells'
import { rows } from './rows-sso'

describe('the fault matrix, SSO system', () => {
  test.concurrent.each(cellsOf(rows))('row $row: $name: $column', async ({ column, ...row }) => runCell(row, column))
})
