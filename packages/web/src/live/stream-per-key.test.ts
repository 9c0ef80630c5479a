import { describe, expect, it } from 'vitest'
import type { ChangeMessage, Frame } from './change-stream.ts'
import { createStreams } from './stream-per-key.ts'

function startStreams() {
  const emitters: ((frame: Frame) => void)[] = []
  const afters: (string | undefined)[] = []
  const listen = createStreams(async (_key, after, _signal, emit) => {
    afters.push(after)
    emitters.push(emit)
  })
  const subscribe = (after: string | undefined, key = 'phx_key') => {
    const received: ChangeMessage[] = []
    return { received, stop: listen(key, after, message => received.push(message)) }
  }
  return { subscribe, afters, emit: (frame: Frame) => emitters.at(-1)!(frame) }
}

const changed = (id: string): Frame => ({
  message: { kind: 'change', change: { topic: 'flag', organization: null, project: 1, id } },
  position: `after-${id}`,
})

describe('a stream that tabs share', () => {
  it('starts at the position of the first tab and delivers what follows', () => {
    const { subscribe, afters, emit } = startStreams()
    const first = subscribe('p0')
    emit({ message: { kind: 'resume' }, position: 'p0' })
    emit(changed('1'))
    expect(afters).toEqual(['p0'])
    expect(first.received).toEqual([{ kind: 'resume' }, changed('1').message])
  })

  it('gives a later tab exactly the changes after its own position', () => {
    const { subscribe, emit } = startStreams()
    subscribe('p0')
    emit({ message: { kind: 'resume' }, position: 'p0' })
    emit(changed('1'))
    emit(changed('2'))
    expect(subscribe('after-1').received).toEqual([{ kind: 'resume' }, changed('2').message])
    expect(subscribe('after-2').received).toEqual([{ kind: 'resume' }])
    emit({ position: 'heartbeat' })
    expect(subscribe('heartbeat').received).toEqual([{ kind: 'resume' }])
  })

  it('lets a tab read everything again when its position is not known', () => {
    const { subscribe, emit } = startStreams()
    subscribe('p0')
    expect(subscribe(undefined).received).toEqual([{ kind: 'open' }])
    expect(subscribe('elsewhere').received).toEqual([{ kind: 'open' }])
    emit(changed('1'))
    emit({ message: { kind: 'open' }, position: 'p9' })
    // Something between the two positions was lost.
    expect(subscribe('after-1').received).toEqual([{ kind: 'open' }])
    expect(subscribe('p9').received).toEqual([{ kind: 'resume' }])
  })

  it('passes on ephemeral changes, which have no position, and does not repeat them', () => {
    const { subscribe, emit } = startStreams()
    const first = subscribe('p0')
    emit(changed('1'))
    emit({ message: changed('2').message! })
    expect(first.received).toEqual([changed('1').message, changed('2').message])
    expect(subscribe('after-1').received).toEqual([{ kind: 'resume' }])
  })

  it('forgets positions that are too far back', () => {
    const { subscribe, emit } = startStreams()
    subscribe('p0')
    for (let id = 0; id < 500; id++) emit(changed(String(id)))
    expect(subscribe('after-10').received).toEqual([{ kind: 'open' }])
    expect(subscribe('after-498').received).toEqual([{ kind: 'resume' }, changed('499').message])
  })
})
