import { describe, expect, it } from 'vitest'
import { canonicalJson, firstPreviousHash, sha256, verifyChain } from './verify-chain.ts'

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
