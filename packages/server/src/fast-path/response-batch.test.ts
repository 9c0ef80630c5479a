import { describe, expect, it } from 'vitest'
import { createResponseBatch, type Recipient } from './response-batch.ts'

function setUp() {
  const batch = createResponseBatch()
  const written: string[] = []
  /** What a recipient was given and the operating system has not copied. */
  const retained: Buffer[] = []
  const recipient = (name: string, takes = true): Recipient => ({
    write(response) {
      written.push(`${name} ${response.toString('latin1', 0, 3)} ${response.length}`)
      if (!takes) retained.push(response)
      return takes
    },
  })
  /** A response that consists of one character. */
  const add = (character: string, bytes: number, to: Recipient): void => {
    batch.add(batch.take(bytes).fill(character, 0, bytes).subarray(0, bytes), to)
  }
  return { batch, written, retained, recipient, add }
}

describe('a batch of responses', () => {
  it('writes them together and in order', () => {
    const { batch, written, recipient, add } = setUp()
    add('a', 10, recipient('one'))
    add('b', 20, recipient('two'))
    add('c', 30, recipient('one'))
    expect(written).toEqual([])
    batch.flush()
    expect(written).toEqual(['one aaa 10', 'two bbb 20', 'one ccc 30'])
    batch.flush()
    expect(written).toHaveLength(3)
  })

  it('writes what it has when its memory is full, whatever the sizes', () => {
    const { batch, written, recipient, add } = setUp()
    const sizes = [1, 200_000, 100_000, 200_000, 700_000, 3, 60_000, 1_048_576, 5]
    for (const [index, size] of sizes.entries()) add(String(index), size, recipient('one'))
    batch.flush()
    expect(written).toEqual(sizes.map((size, index) => `one ${String(index).repeat(Math.min(size, 3))} ${size}`))
  })

  it('does not retain large responses', () => {
    const { written, recipient, add } = setUp()
    add('a', 10, recipient('one'))
    add('b', 2_000_000, recipient('two'))
    expect(written).toEqual(['one aaa 10', 'two bbb 2000000'])
  })

  it('leaves memory alone that a slow client has not read', () => {
    const { batch, written, retained, recipient, add } = setUp()
    add('a', 1000, recipient('fast'))
    add('b', 1000, recipient('slow', false))
    add('c', 1000, recipient('slow', false))
    batch.flush()
    for (let n = 0; n < 5; n++) add('x', 200_000, recipient('fast'))
    batch.flush()
    expect(written).toHaveLength(8)
    expect(retained.map(response => response.toString())).toEqual(['b'.repeat(1000), 'c'.repeat(1000)])
  })

  it('gives memory of an abandoned response to the next one', () => {
    const { batch, written, recipient, add } = setUp()
    add('a', 10, recipient('one'))
    batch.take(5000).fill('z', 0, 5000)
    add('b', 10, recipient('one'))
    batch.flush()
    expect(written).toEqual(['one aaa 10', 'one bbb 10'])
  })
})
