import type { Instant } from '../../instant.ts'
import type { Database } from '../../stores.ts'
import { recordSdkUsage } from './record-sdk-usage.ts'
import type { SdkCalls } from './sdk-calls.ts'

interface Options {
  readonly calls: SdkCalls
  readonly database: Database
  readonly now: () => Instant
  readonly onError: (error: unknown) => void
}

const intervalMilliseconds = 60_000
/** A new SDK appears in the dashboard after about this long. */
const newMilliseconds = 250

/** Writes the counted calls once a minute, and new SDKs at once. A failed write loses counts, nothing else. */
export function startWritingSdkCalls({ calls, database, now, onError }: Options): { close(): Promise<void> } {
  let soon: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()
  const write = () => {
    clearTimeout(soon)
    soon = undefined
    const drained = calls.drain()
    if (drained.length > 0) writing = writing.then(() => recordSdkUsage(database, drained, now())).catch(onError)
  }
  const timer = setInterval(write, intervalMilliseconds).unref()
  calls.onNew(() => {
    soon ??= setTimeout(write, newMilliseconds).unref()
  })
  return {
    async close() {
      clearInterval(timer)
      calls.onNew(() => {})
      write()
      await writing
    },
  }
}
