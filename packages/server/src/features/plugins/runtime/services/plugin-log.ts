import { type Instant, instantOf } from '../../../../instant.ts'
import { Problem } from '../../../../problem.ts'
import type { Database } from '../../../../stores.ts'
import type { LogType, NewPluginLog } from '../plugin-work-store.ts'

/** The log of all configurations, written in batches so that logging costs a call next to nothing. */
export interface PluginLogWriter {
  write(configId: number, source: NewPluginLog['source'], type: LogType, message: string): void
  flush(): Promise<void>
}

const linesWaitingMax = 10_000
const messageCharactersMax = 10_000

export function createPluginLogWriter(database: Database, instanceId: string): PluginLogWriter {
  let waiting: NewPluginLog[] = []
  let writing: Promise<void> = Promise.resolve()

  async function writeAll(): Promise<void> {
    const batch = waiting
    waiting = []
    if (batch.length === 0) return
    try {
      await database.transaction(tx => tx.pluginWork.appendLogs(batch))
    } catch (error) {
      if (error instanceof Problem && error.kind === 'unavailable')
        waiting = [...batch, ...waiting].slice(0, linesWaitingMax)
      throw error
    }
  }

  return {
    write(configId, source, type, message) {
      // While the database is unavailable the oldest lines are retained: they show how the trouble began.
      if (waiting.length >= linesWaitingMax) return
      const loggedAt: Instant = instantOf(new Date())
      waiting.push({ configId, loggedAt, source, type, message: storable(message), instanceId })
    },
    flush() {
      writing = writing.then(writeAll, writeAll)
      return writing
    },
  }
}

/** PostgreSQL keeps no NUL, and no database a lone surrogate. */
function storable(message: string): string {
  return message.slice(0, messageCharactersMax).replaceAll('\u0000', '').toWellFormed()
}
