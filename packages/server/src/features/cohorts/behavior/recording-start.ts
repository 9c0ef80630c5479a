import { behaviorDaysMax } from '@halyard/engine'
import { type Instant, plusMilliseconds } from '../../../instant.ts'
import type { InstanceStore } from '../../../storage/instance-store.sql.ts'
import type { Stores } from '../../../stores.ts'

const startName = 'person_events_recorded_since'
const dayMilliseconds = 24 * 60 * 60 * 1000

/**
 * Called at the start of a node: a node that records nothing interrupts the record of all. Other processes may be writing: it writes only
 * what changes, in a transaction, which waits for them.
 */
export async function noteRecording(
  instance: InstanceStore,
  transaction: (work: (instance: InstanceStore) => Promise<unknown>) => Promise<unknown>,
  isRecording: boolean,
  now: Instant,
): Promise<void> {
  if (((await instance.find(startName)) !== undefined) === isRecording) return
  await transaction(own => (isRecording ? own.findOrCreate(startName, now) : own.remove(startName)))
}

/**
 * The first whole day of the record that ClickHouse may still have; undefined without a record. Not the day of the start: other nodes are
 * restarted after the first.
 */
export async function historyFrom(tx: Stores, now: Instant): Promise<string | undefined> {
  if (!tx.personEvents.isRecorded) return undefined
  const start = await tx.instance.find(startName)
  if (start === undefined) return undefined
  const oldest = plusMilliseconds(now, -(behaviorDaysMax - 1) * dayMilliseconds)
  const next = plusMilliseconds(start as Instant, dayMilliseconds)
  return (next > oldest ? next : oldest).slice(0, 10)
}
