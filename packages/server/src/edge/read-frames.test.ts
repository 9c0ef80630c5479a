import fc from 'fast-check'
import { expect, it } from 'vitest'
import { frameOf } from '../http/routes/event-streams.ts'
import { readFrames } from './read-frames.ts'

async function read(chunks: readonly Uint8Array[], charactersMax = 1e6) {
  async function* body() {
    yield* chunks
  }
  const frames: unknown[] = []
  for await (const frame of readFrames(body(), charactersMax)) if (frame) frames.push(frame)
  return frames
}

it('reads the frames, however they are split into chunks', async () => {
  const written = fc.array(fc.record({ event: fc.constantFrom('a', 'b'), data: fc.json() }), { maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(written, fc.integer({ min: 1, max: 9 }), async (frames, size) => {
      const bytes = Buffer.from(`: still here\n\n${frames.map(frameOf).join(': still here\n\n')}`)
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
        bytes.subarray(n * size, (n + 1) * size),
      )
      expect(await read(chunks)).toEqual(frames)
    }),
  )
})

it('reads after how long to reconnect', async () => {
  const frames = ['data: {}\n\n', 'retry: 1500\n\n', 'retry: soon\n\n'].map(text => Buffer.from(text))
  expect(await read(frames)).toEqual([{ event: 'message', data: '{}' }, { retryMilliseconds: 1500 }])
})

it('rejects a frame that is too large', async () => {
  const endless = Array.from({ length: 20 }, () => Buffer.from('x'.repeat(100)))
  await expect(read(endless, 1000)).rejects.toThrow('more than 1000 characters')
})
