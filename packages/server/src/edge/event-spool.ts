import { type FileHandle, mkdir, open, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { type EdgeBatch, type EdgeEvent, edgeBatchEventsMax } from '@halyard/contract'
import { Mutex } from '../concurrency/mutex.ts'
import { createIngestQueue } from '../features/events/ingest/ingest-queue.ts'
import { newUuid } from '../features/identity/secret.ts'
import { Problem } from '../problem.ts'
import { syncFolder } from './state-file.ts'

/**
 * Batches on their way to the upstream, as lines in append-only files. A file is deleted when the upstream has accepted
 * everything in it.
 */
export interface EventSpool {
  /**
   * Resolves when the batch is on disk. One without an id may be joined with others and gets one. Raises `unavailable` when the spool is
   * full, or the disk cannot be written.
   */
  append(batch: NewBatch): Promise<void>
  /** The batches in the oldest file, as JSON; undefined when there is none. Nothing is appended to a file that has been read. */
  takeOldest(): Promise<SpoolFile | undefined>
  /** Resolves when there may be something to read, or when the spool closes. */
  filled(): Promise<void>
  readonly bytes: number
  /** Lines that could not be read. */
  readonly damaged: number
  close(): Promise<void>
}

export type NewBatch = Omit<EdgeBatch, 'id'> & { readonly id?: string }

export interface SpoolFile {
  readonly lines: readonly string[]
  remove(): Promise<void>
}

const fileBytesMax = 4 * 1024 * 1024
const waitingBytesMax = 64 * 1024 * 1024
const lineOverheadBytes = 60
const filePattern = /^\d{10}\.jsonl$/

interface Waiting {
  readonly batch: NewBatch
  readonly size: number
}

interface Appending {
  readonly name: string
  readonly file: FileHandle
  bytes: number
}

export async function openEventSpool(folder: string, bytesMax: number): Promise<EventSpool> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const names = (await readdir(folder)).filter(name => filePattern.test(name)).sort()
  const sizes = new Map<string, number>()
  for (const name of names) sizes.set(name, (await stat(join(folder, name))).size)
  let lastNumber = Number(names.at(-1)?.slice(0, 10) ?? 0)
  let bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0)
  let current: Appending | undefined
  let damaged = 0
  let wake = () => {}
  let isClosed = false
  const mutex = new Mutex()

  async function startFile(): Promise<Appending> {
    lastNumber += 1
    const name = `${String(lastNumber).padStart(10, '0')}.jsonl`
    const file = await open(join(folder, name), 'ax', 0o600)
    await syncFolder(folder)
    names.push(name)
    sizes.set(name, 0)
    return { name, file, bytes: 0 }
  }

  async function endFile(): Promise<void> {
    const ended = current
    current = undefined
    await ended?.file.close().catch(() => {})
  }

  /** Of a failed write, whole lines may be in the file: they would be forwarded, and counted again when the client repeats them. */
  async function undoWrite(): Promise<void> {
    const undone = current?.file.truncate(current.bytes).then(
      () => true,
      () => false,
    )
    // A partial line is detected by its checksum; the next one goes into a new file.
    if (!(await undone)) await endFile()
  }

  async function write(waiting: readonly Waiting[]): Promise<void> {
    try {
      if (current && current.bytes > fileBytesMax) await endFile()
      current ??= await startFile()
      const text = joined(waiting.map(({ batch }) => batch))
        .map(batch => `${checked(JSON.stringify(batch))}\n`)
        .join('')
      await current.file.appendFile(text)
      await current.file.datasync()
      const added = Buffer.byteLength(text)
      current.bytes += added
      sizes.set(current.name, current.bytes)
      bytes += added
      wake()
    } catch (error) {
      await undoWrite()
      throw new Problem('unavailable', 'This edge cannot write to its disk; nothing was stored.', {
        retryAfterSeconds: 5,
        cause: error,
      })
    }
  }

  const queue = createIngestQueue<Waiting>({
    write: waiting => mutex.run(() => write(waiting)),
    waitingMax: waitingBytesMax,
    writtenAtOnceMax: fileBytesMax,
  })

  async function remove(name: string): Promise<void> {
    await rm(join(folder, name), { force: true })
    bytes -= sizes.get(name) ?? 0
    sizes.delete(name)
    names.splice(names.indexOf(name), 1)
  }

  return {
    async append(batch) {
      const size = Buffer.byteLength(JSON.stringify(batch)) + lineOverheadBytes
      if (bytes + queue.waiting + size > bytesMax) {
        throw new Problem(
          'unavailable',
          'The event queue of this edge is full until its upstream accepts events. Retry later.',
          {
            retryAfterSeconds: 30,
          },
        )
      }
      await queue.submit({ batch, size })
    },
    async takeOldest() {
      const [name] = names
      if (name === undefined) return undefined
      // Waits for writes in progress, so that their file is not deleted.
      await mutex.run(async () => {
        if (current?.name === name) await endFile()
      })
      const text = await readFile(join(folder, name), 'utf8')
      const lines = text.split('\n').filter(line => line !== '')
      const whole = lines.flatMap(line => unchecked(line) ?? [])
      damaged += lines.length - whole.length
      return { lines: whole, remove: () => remove(name) }
    },
    filled: () =>
      new Promise(resolve => {
        if (names.length > 0 || isClosed) resolve()
        else wake = resolve
      }),
    get bytes() {
      return bytes
    },
    get damaged() {
      return damaged
    },
    async close() {
      isClosed = true
      wake()
      await queue.drained()
      await endFile()
    },
  }
}

/** Joins events of one project that arrive together into one batch, which reduces the number of batches under load. */
function joined(batches: readonly NewBatch[]): readonly EdgeBatch[] {
  const result: { id: string; project?: string; events?: EdgeEvent[] }[] = []
  const open = new Map<string, { events: EdgeEvent[] }>()
  for (const batch of batches) {
    const { id, project, events } = batch
    const openBatch = project === undefined ? undefined : open.get(project)
    if (id !== undefined || project === undefined || !events)
      result.push({ ...batch, id: id ?? newUuid() } as EdgeBatch)
    else if (openBatch && openBatch.events.length + events.length <= edgeBatchEventsMax)
      openBatch.events.push(...events)
    else {
      const begun = { id: newUuid(), project, events: [...events] }
      open.set(project, begun)
      result.push(begun)
    }
  }
  return result
}

const checked = (line: string): string => `${crc32(line).toString(16).padStart(8, '0')} ${line}`

function unchecked(line: string): string | undefined {
  const text = line.slice(9)
  return line[8] === ' ' && line.slice(0, 8) === crc32(text).toString(16).padStart(8, '0') ? text : undefined
}
