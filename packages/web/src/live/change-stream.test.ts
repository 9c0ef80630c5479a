import { describe, expect, it } from 'vitest'
import { readFrame } from './change-stream.ts'

describe('a frame of the change stream', () => {
  it('is an open message or a change', () => {
    expect(readFrame('event: open\ndata: {}')).toEqual({ kind: 'open' })
    const change = { topic: 'flag', organization: null, project: 1, id: '7: x' }
    expect(readFrame(`event: change\ndata: ${JSON.stringify(change)}`)).toEqual({ kind: 'change', change })
  })

  it('is ignored when it is a heartbeat', () => {
    expect(readFrame(': heartbeat')).toBeUndefined()
    expect(readFrame('')).toBeUndefined()
  })
})
