import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, rename, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Document, documentOf, type ProjectState, projectState } from '../api/edge/project-state.ts'

/** The last state on disk: lines of JSON between a header and a checksum line that proves that the file is complete. */
export interface StateFile {
  /** Undefined when there is none. Raises DamagedState after renaming the file. */
  read(): Promise<readonly ProjectState[] | undefined>
  /** Atomic: a reader sees the old file or the new one, also after a power failure. */
  write(states: readonly ProjectState[]): Promise<void>
  /** When the state was last known to be current, in milliseconds: the modification time of the file. */
  contactAt(): Promise<number | undefined>
  /** 0: however late a state is written, it does not count as current until this is set again. */
  setContactAt(milliseconds: number): Promise<void>
}

export class DamagedState extends Error {}

const heading = JSON.stringify({ halyard_edge_state: 1 })
const chunkCharacters = 1024 * 1024

export function stateFile(folder: string): StateFile {
  const path = join(folder, 'state.jsonl')
  const damaged = join(folder, 'state.damaged')
  let isDistrusted = false

  async function readLines(): Promise<readonly ProjectState[]> {
    const projects = new Map<string, Map<string, Document>>()
    const hash = createHash('sha256')
    let end: { lines: number; sha256: string } | undefined
    let lines = 0
    for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
      if (lines === 0 && line !== heading) throw new Error('it does not begin as it should')
      if (line.startsWith('{"end"')) end = JSON.parse(line).end
      else {
        hash.update(line)
        if (lines > 0) {
          const [project, name, json] = JSON.parse(line) as [string, string, string]
          projects.set(project, (projects.get(project) ?? new Map()).set(name, documentOf(name, json)))
        }
        lines += 1
      }
    }
    if (!end || end.lines !== lines || end.sha256 !== hash.digest('hex')) throw new Error('its digest is not right')
    return [...projects].map(([project, documents]) => projectState(project, documents))
  }

  return {
    async read() {
      if (!(await stat(path).catch(() => undefined))) return undefined
      try {
        return await readLines()
      } catch (error) {
        await rename(path, damaged)
        throw new DamagedState(`The state in ${path} is damaged (${(error as Error).message}); it is now ${damaged}.`)
      }
    },
    async write(states) {
      const temporary = `${path}.new`
      const file = await open(temporary, 'w', 0o600)
      try {
        const hash = createHash('sha256')
        let lines = 0
        let chunk = ''
        for (const line of linesOf(states)) {
          hash.update(line)
          lines += 1
          chunk += `${line}\n`
          if (chunk.length < chunkCharacters) continue
          await file.appendFile(chunk)
          chunk = ''
        }
        const end = JSON.stringify({ end: { lines, sha256: hash.digest('hex') } })
        await file.appendFile(`${chunk}${end}\n`)
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(temporary, path)
      // A write takes a moment, and the upstream may have refused this edge meanwhile or before.
      if (isDistrusted) await utimes(path, 0, 0)
      await syncFolder(folder)
    },
    contactAt: async () => (await stat(path).catch(() => undefined))?.mtimeMs,
    async setContactAt(milliseconds) {
      isDistrusted = milliseconds === 0
      const time = new Date(milliseconds)
      if (await stat(path).catch(() => undefined)) await utimes(path, time, time)
    },
  }
}

function* linesOf(states: readonly ProjectState[]): Generator<string> {
  yield heading
  for (const { project, documents } of states) {
    for (const [name, { json }] of documents) yield JSON.stringify([project, name, json])
  }
}

/** A rename is durable after an fsync of the folder. Systems that do not support it do not need it. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined)
  await handle?.sync().catch(() => {})
  await handle?.close()
}
