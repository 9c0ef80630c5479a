import { expect, it } from 'vitest'
import { Problem } from '../../../../problem.ts'
import type { Database, Stores } from '../../../../stores.ts'
import type { EnabledConfig } from '../../configs/plugin-config.ts'
import type { NewPluginLog } from '../plugin-work.ts'
import { createPluginLogWriter } from './plugin-log.ts'

it('keeps lines while the database is away, in their order, and drops those that cannot be stored', async () => {
  const stored: string[] = []
  const failures: Error[] = [
    new Problem('unavailable', 'The database is away.'),
    new Problem('unavailable', 'The database is still away.'),
  ]
  const stores = {
    pluginLogs: {
      append: async (lines: readonly NewPluginLog[]) => void stored.push(...lines.map(l => l.message)),
    },
  } as unknown as Stores
  const database = {
    transaction: async (work: (tx: Stores) => Promise<unknown>) => {
      const failure = failures.shift()
      if (failure) throw failure
      return work(stores)
    },
  } as unknown as Database
  const announced: EnabledConfig[] = []
  const log = createPluginLogWriter(database, 'node', config => announced.push(config))
  const enabled = { config: { id: 1 } } as EnabledConfig
  const write = (message: string) => log.write(enabled, 'CONSOLE', 'INFO', message)

  write('first')
  await expect(log.flush()).rejects.toThrow('away')
  write('second')
  await expect(log.flush()).rejects.toThrow('away')
  write('third')
  await log.flush()
  expect(stored).toEqual(['first', 'second', 'third'])
  // Once for all lines, and not before they can be read.
  expect(announced).toEqual([enabled])

  failures.push(new Error('There is no such configuration any more.'))
  write('lost')
  await expect(log.flush()).rejects.toThrow('no such')
  write('fourth')
  await log.flush()
  expect(stored.at(-1)).toBe('fourth')
  expect(stored).not.toContain('lost')
})
