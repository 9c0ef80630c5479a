import { type Instant, instantOf } from '../../../../instant.ts'
import { Problem } from '../../../../problem.ts'
import type { Database } from '../../../../stores.ts'
import type { EnabledConfig } from '../../configs/plugin-config.ts'
import type { LogType, NewPluginLog } from '../plugin-work.ts'

/** The log of all configurations, written in batches so that logging costs a call next to nothing. */
export interface PluginLogWriter {
  write(enabled: EnabledConfig, source: NewPluginLog['source'], type: LogType, message: string): void
  flush(): Promise<void>
}

interface WaitingLine {
  readonly enabled: EnabledConfig
  readonly line: NewPluginLog
}

const linesWaitingMax = 10_000
const messageCharactersMax = 10_000

export function createPluginLogWriter(
  database: Database,
  instanceId: string,
  /** Called for each configuration whose lines were stored. */
  onStored: (enabled: EnabledConfig) => void,
): PluginLogWriter {
  let waiting: WaitingLine[] = []
  let writing: Promise<void> = Promise.resolve()

  async function writeAll(): Promise<void> {
    const batch = waiting
    waiting = []
    if (batch.length === 0) return
    try {
      await database.transaction(tx => tx.pluginLogs.append(batch.map(({ line }) => line)))
      const stored = new Map(batch.map(({ enabled }) => [enabled.config.id, enabled]))
      for (const enabled of stored.values()) onStored(enabled)
    } catch (error) {
      if (error instanceof Problem && error.kind === 'unavailable')
        waiting = [...batch, ...waiting].slice(0, linesWaitingMax)
      throw error
    }
  }

  return {
    write(enabled, source, type, message) {
      // While the database is unavailable the oldest lines are retained: they show how the trouble began.
      if (waiting.length >= linesWaitingMax) return
      const loggedAt: Instant = instantOf(new Date())
      const line = { configId: enabled.config.id, loggedAt, source, type, message: storable(message), instanceId }
      waiting.push({ enabled, line })
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
