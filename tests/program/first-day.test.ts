import { it } from 'vitest'
import { onEachDatabase } from '../../packages/server/src/testing/databases.ts'
import { useProgram } from './use-program.ts'

onEachDatabase('the built program', dialect => {
  it('evaluates, installs, imports, approves, serves its pages and stops', () => useProgram(dialect), 120_000)
})
