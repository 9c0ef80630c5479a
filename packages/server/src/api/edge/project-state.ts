import { createHash } from 'node:crypto'

/** One thing that an edge must know about a project, as JSON text. */
export interface Document {
  readonly json: string
  /** Of name and text. */
  readonly digest: Buffer
}

export type Documents = ReadonlyMap<string, Document>

/** All that an edge must know about a project at one moment: documents by name. Never changes; a change makes a new one. */
export interface ProjectState {
  /** The UUID of the project. */
  readonly project: string
  readonly documents: Documents
  /** Equal for equal states, whichever node made them. */
  readonly digest: string
  readonly bytes: number
}

/** What makes one state of another. */
export interface StateChange {
  readonly set: readonly (readonly [name: string, json: string])[]
  readonly removed: readonly string[]
}

const digestBytes = 32
/** What a document takes in memory besides its text: many empty ones must not be free. */
const documentOverheadBytes = 256

/** About as much memory as the document takes. */
export const documentBytes = (name: string, json: string): number => name.length + json.length + documentOverheadBytes

export const documentOf = (name: string, json: string): Document => ({
  json,
  digest: createHash('sha256').update(`${name}\u0000${json}`).digest(),
})

export function projectState(project: string, documents: Documents): ProjectState {
  // The sum does not depend on the order, so that it can be made of documents in any.
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
    const known = before?.get(name)
    if (known !== document && known?.json !== document.json) set.push([name, document.json])
  }
  const removed = before ? [...before.keys()].filter(name => !after.has(name)) : []
  return { set, removed }
}
