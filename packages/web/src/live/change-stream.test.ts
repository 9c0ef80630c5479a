import { describe, expect, it } from 'vitest'
import { readFrame } from './change-stream.ts'

describe('a frame of the change stream', () => {
  it('is the start of the stream or a change, with its position', () => {
    expect(readFrame('event: open\nid: p0\ndata: {}')).toEqual({ message: { kind: 'open' }, position: 'p0' })
    expect(readFrame('event: resume\nid: p0\ndata: {}')).toEqual({ message: { kind: 'resume' }, position: 'p0' })
    const change = { topic: 'flag', organization: null, project: 1, id: '7: x' }
    expect(readFrame(`id: p1\ndata: ${JSON.stringify(change)}`)).toEqual({
      message: { kind: 'change', change },
      position: 'p1',
    })
  })

  it('says after how long to reconnect when the server stops', () => {
    expect(readFrame('retry: 1500')).toEqual({ retryMilliseconds: 1500 })
    expect(readFrame('retry: soon')).toEqual({})
  })

  it('is only a position when it is a heartbeat', () => {
    expect(readFrame('id: p2')).toEqual({ position: 'p2' })
    expect(readFrame(': comment')).toEqual({})
    expect(readFrame('')).toEqual({})
  })
})
