import { createHash } from 'node:crypto'

/** One replicated part of a project, as JSON text. */
export interface Document {
  readonly json: string
  /** Of name and text. */
  readonly digest: Buffer
}

export type Documents = ReadonlyMap<string, Document>

/** The replicated state of a project: documents by name. Immutable. */
export interface ProjectState {
  /** The UUID of the project. */
  readonly project: string
  readonly documents: Documents
  /** Equal for equal states on all nodes. */
  readonly digest: string
  readonly bytes: number
}

/** The difference between two states. */
export interface StateChange {
  readonly set: readonly (readonly [name: string, json: string])[]
  readonly removed: readonly string[]
}

const digestBytes = 32
/** The memory overhead of a document besides its text; without it, many empty documents would count as nothing. */
const documentOverheadBytes = 256

/** The approximate memory of a document. */
export const documentBytes = (name: string, json: string): number => name.length + json.length + documentOverheadBytes

export const documentOf = (name: string, json: string): Document => ({
  json,
  digest: createHash('sha256').update(`${name}\u0000${json}`).digest(),
})

export function projectState(project: string, documents: Documents): ProjectState {
  // A sum, so that it does not depend on the order of the documents.
  const sum = Buffer.alloc(digestBytes)
  let bytes = 0
  for (const [name, { json, digest }] of documents) {
    for (let at = 0; at < digestBytes; at++) sum[at]! ^= digest[at]!
    bytes += documentBytes(name, json)
  }
  return { project, documents, digest: `${documents.size}-${sum.toString('base64url')}`, bytes }
}

export function changeBetween(before: Documents | undefined, after: Documents): StateChange {
  const set: (readonly [string, string])[] = []
  for (const [name, document] of after) {
    const previous = before?.get(name)
    if (previous !== document && previous?.json !== document.json) set.push([name, document.json])
  }
  const removed = before ? [...before.keys()].filter(name => !after.has(name)) : []
  return { set, removed }
}
