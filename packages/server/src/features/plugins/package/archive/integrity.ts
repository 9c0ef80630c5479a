import { createHash, timingSafeEqual } from 'node:crypto'
import { downloadFailed } from '../origins/origin.ts'

/** The integrity that a registry states: a subresource integrity string, or an old hexadecimal SHA-1. */
export interface HashPromise {
  readonly integrity: string | undefined
  readonly shasum: string | undefined
}

const strongestFirst = ['sha512', 'sha384', 'sha256', 'sha1']

/** Raises `download_failed` when the bytes do not match, or no integrity was stated. */
export function checkIntegrity(bytes: Buffer, promised: HashPromise): void {
  const expected = readPromise(promised)
  if (!expected) throw downloadFailed('the registry gives no integrity hash for it.')
  const actual = createHash(expected.algorithm).update(bytes).digest()
  if (actual.length !== expected.digest.length || !timingSafeEqual(actual, expected.digest)) {
    throw downloadFailed('the archive does not have the integrity hash that the registry gives.')
  }
}

function readPromise({ integrity, shasum }: HashPromise): { algorithm: string; digest: Buffer } | undefined {
  const hashes = (integrity ?? '').split(/\s+/).map(hash => /^(sha\d+)-([A-Za-z0-9+/=]+)/.exec(hash))
  for (const algorithm of strongestFirst) {
    const match = hashes.find(hash => hash?.[1] === algorithm)
    if (match) return { algorithm, digest: Buffer.from(match[2]!, 'base64') }
  }
  return shasum && /^[0-9a-f]{40}$/i.test(shasum)
    ? { algorithm: 'sha1', digest: Buffer.from(shasum, 'hex') }
    : undefined
}
