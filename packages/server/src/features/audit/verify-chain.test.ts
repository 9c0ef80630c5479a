import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { canonicalJson, checkpointText, firstPreviousHash, type Link, sha256, verifyChain } from './verify-chain.ts'

describe('canonical JSON', () => {
  it('has the numbers, strings and order of members of RFC 8785', () => {
    const numbers = ['333333333.33333329', '1E30', '4.50', '2e-3', '0.000000000000000000000000001']
    expect(numbers.map(text => canonicalJson(Number(text)))).toEqual([
      '333333333.3333333',
      '1e+30',
      '4.5',
      '0.002',
      '1e-27',
    ])
    expect(canonicalJson(-0)).toBe('0')
    expect(canonicalJson('\u20ac$\u000f\nA\'B"\\\\"/')).toBe('"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"')
    const names = ['\u20ac', '\r', '\ufb33', '1', '\u{1f600}', '\u0080', '\u00f6']
    const sorted = Object.keys(JSON.parse(canonicalJson(Object.fromEntries(names.map(name => [name, name])))))
    // JavaScript moves names that are whole numbers to the front.
    expect(sorted).toEqual(['1', '\r', '\u0080', '\u00f6', '\u20ac', '\u{1f600}', '\ufb33'])
    expect(canonicalJson({ b: [null, true, undefined], a: undefined, '\r': {}, '1': [] })).toBe(
      '{"\\r":{},"1":[],"b":[null,true,null]}',
    )
    expect(() => canonicalJson(Number.NaN)).toThrow(TypeError)
  })
})

/** As many entries as `count`, as an export has them. */
function exported(count: number, first: object = {}): string[] {
  let previous = firstPreviousHash
  const lines = Array.from({ length: count }, (_, index) => {
    const content = { at: 'now', previous_hash: previous, sequence: index + 1, ...(index === 0 && first) }
    previous = sha256(canonicalJson(content))
    return canonicalJson({ ...content, hash: previous })
  })
  return [...lines, canonicalJson({ head: { hash: previous, sequence: count } })]
}

const sequencesOf = async (lines: string[], expected = {}) =>
  (await verifyChain(lines, expected)).faults.map(({ sequence }) => sequence)

describe('an export', () => {
  const lines = exported(6)
  const hashOf = (sequence: number) => JSON.parse(lines[sequence - 1]!).hash as string

  it('verifies when it is complete, also against an earlier head', async () => {
    expect(await verifyChain(lines)).toEqual({
      entries: 6,
      start: { sequence: 0, hash: firstPreviousHash },
      head: { sequence: 6, hash: hashOf(6) },
      key: undefined,
      faults: [],
    })
    expect(await sequencesOf(lines, { head: hashOf(3) })).toEqual([])
    expect(await sequencesOf(lines.slice(3), { after: hashOf(3) })).toEqual([])
    expect(await sequencesOf(exported(0))).toEqual([])
  })

  it('reports every single bit that was changed', async () => {
    const text = Buffer.from(lines.slice(0, 3).join('\n'))
    for (let bit = 0; bit < text.length * 8; bit++) {
      const changed = Buffer.from(text)
      changed[bit >> 3]! ^= 1 << (bit & 7)
      const { faults } = await verifyChain([...changed.toString('latin1').split('\n'), ...lines.slice(3)])
      expect(faults.length, `bit ${bit}`).toBeGreaterThan(0)
    }
  })

  it('reports a missing, swapped, doubled or cut-off entry with its sequence', async () => {
    const swapped = lines.with(2, lines[3]!).with(3, lines[2]!)
    expect((await sequencesOf(lines.toSpliced(2, 1)))[0]).toBe(3)
    expect((await sequencesOf(swapped))[0]).toBe(3)
    expect((await sequencesOf(lines.toSpliced(2, 0, lines[1]!)))[0]).toBe(3)
    expect(await sequencesOf(lines.slice(0, 4))).toEqual([5])
    expect(await sequencesOf(lines.toSpliced(4, 2))).toEqual([5])
    expect(await sequencesOf(lines.slice(2))).toEqual([2])
  })

  it('reports a tail that was cut off and given a new head, when the earlier head is at hand', async () => {
    const cut = [...lines.slice(0, 4), canonicalJson({ head: { hash: hashOf(4), sequence: 4 } })]
    expect(await sequencesOf(cut)).toEqual([])
    expect(await sequencesOf(cut, { head: hashOf(6) })).toEqual([5])
  })

  it('reports a log that was written again with other content', async () => {
    const forged = exported(6, { at: 'later' })
    expect(await sequencesOf(forged)).toEqual([])
    expect(await sequencesOf(forged, { head: hashOf(6) })).toEqual([7])
  })
})

describe('an export from which the retention removed entries', () => {
  const { privateKey } = generateKeyPairSync('ed25519')
  const publicKey = (key: KeyObject): string => key.export({ format: 'jwk' }).x!
  const fingerprint = sha256(publicKey(privateKey))

  /** Entries 4 to 9, of which entry 8 is the checkpoint. */
  function pruned(signer: KeyObject, change: { note?: string; unsigned?: true; signs?: Partial<Link> } = {}): string[] {
    const last = { sequence: 3, hash: sha256('the last one removed') }
    let previous = last.hash
    const lines = [4, 5, 6, 7, 8, 9].map(sequence => {
      const place = { organization: 'o', previous_hash: previous, sequence }
      const text = checkpointText(place, { ...last, ...change.signs })
      const signature = sign(null, Buffer.from(text), signer).toString('base64url')
      const checkpoint = change.unsigned ? last : { ...last, key: publicKey(signer), signature }
      const content = { ...place, note: change.note ?? '', ...(sequence === 8 && { pruned: checkpoint }) }
      previous = sha256(canonicalJson(content))
      return canonicalJson({ ...content, hash: previous })
    })
    return [...lines, canonicalJson({ head: { hash: previous, sequence: 9 } })]
  }

  it('verifies from the checkpoint, also with the fingerprint of the key', async () => {
    const intact = { entries: 6, start: { sequence: 3 }, key: fingerprint, faults: [] }
    expect(await verifyChain(pruned(privateKey))).toMatchObject(intact)
    expect(await verifyChain(pruned(privateKey), { key: fingerprint })).toMatchObject(intact)
  })

  it('reports a checkpoint that is forged, unsigned or signed for another place', async () => {
    const forger = generateKeyPairSync('ed25519').privateKey
    expect(await sequencesOf(pruned(forger, { note: 'other content' }), { key: fingerprint })).toEqual([8, 3])
    expect(await sequencesOf(pruned(privateKey, { unsigned: true }))).toEqual([3])
    expect(await sequencesOf(pruned(privateKey, { signs: { sequence: 2 } }))).toEqual([8, 3])
    expect(await sequencesOf(pruned(privateKey, { signs: { hash: sha256('other') } }))).toEqual([8, 3])
  })

  it('reports entries that were written again, although chain, head and signature are each whole', async () => {
    const [signed] = pruned(privateKey).slice(4)
    const { key, signature } = JSON.parse(signed!).pruned
    const rewritten = pruned(privateKey, { note: 'rewritten' })
    // The forger has no key: the signature of the true log is all there is.
    const checkpoint = { ...JSON.parse(rewritten[4]!).pruned, key, signature }
    let previous = JSON.parse(rewritten[3]!).hash as string
    const tail = rewritten.slice(4, 6).map(line => {
      const { hash: _hash, ...content } = JSON.parse(line)
      const changed = { ...content, previous_hash: previous, ...(content.pruned && { pruned: checkpoint }) }
      previous = sha256(canonicalJson(changed))
      return canonicalJson({ ...changed, hash: previous })
    })
    const head = canonicalJson({ head: { hash: previous, sequence: 9 } })
    expect(await sequencesOf([...rewritten.slice(0, 4), ...tail, head])).toEqual([8, 3])
  })

  it('is reported when it begins before or after the checkpoint says', async () => {
    const lines = pruned(privateKey)
    expect(await sequencesOf(lines.slice(1))).toEqual([4])
    expect(await sequencesOf(lines.toSpliced(4, 1))).toContain(8)
    for (const wrong of ['', 'x', 'A'.repeat(86)]) {
      const broken = lines.map(line => line.replace(/"signature":"[^"]*"/, `"signature":"${wrong}"`))
      expect((await sequencesOf(broken)).length).toBeGreaterThan(0)
    }
  })
})

it('the verifier has fewer than a hundred lines, and imports nothing of the server', () => {
  const text = readFileSync(join(import.meta.dirname, 'verify-chain.ts'), 'utf8')
  expect(text.split('\n').length - 1).toBeLessThan(100)
  expect([...text.matchAll(/from '(.+?)'/g)].map(([, name]) => name)).toEqual(['node:crypto'])
})
