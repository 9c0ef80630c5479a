import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type BodyMemoryBudget, type BodyReservation, freeBodyBytes } from '../../overload/body-memory-budget.ts'
import { Problem } from '../../problem.ts'
import type { SdkBodyRoom } from './sdk-body.ts'

/** A larger answer needs room until its client has read it. What is kept as bytes all who ask for it share. */
const freeAnswerCharacters = 1024 * 1024

const tooLarge = (): Problem => new Problem('too_large', 'The request body is larger than this server accepts.')
const cutShort = (): Problem => new Problem('unparsable', 'The request body ended before all of it had come.')

/**
 * Takes the place of Fastify's own reading of bodies. Large ones need room until they are answered, and may be sent away when they are slow;
 * large answers need room until they have been read.
 */
export function receiveBodies(app: FastifyInstance, bytesMax: number, room: BodyMemoryBudget): void {
  app.decorate('bodyMemory', room)
  app.decorateRequest('bodyPlace')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (request: FastifyRequest, payload: IncomingMessage) =>
    Number(request.headers['content-length']) > bytesMax
      ? Promise.reject(tooLarge())
      : gather(payload, bytesMax, () => enterRoom(request)),
  )
  app.addHook('onSend', async (request, _reply, answer) => {
    if (typeof answer === 'string' && answer.length > freeAnswerCharacters) roomFor(request).take(answer.length)
    return answer
  })
  app.addHook('onResponse', async request => placeOf(request)?.leave())
}

/** A place for what a body unpacks to, or for an answer, until the request has been answered. */
export const roomFor = (request: FastifyRequest): SdkBodyRoom => ({
  unpack: room(request).unpack,
  take: bytes => (placeOf(request) ?? enterSettled(request)).take(bytes),
})

const room = (request: FastifyRequest): BodyMemoryBudget => request.server.getDecorator<BodyMemoryBudget>('bodyMemory')
const placeOf = (request: FastifyRequest) => request.getDecorator<BodyReservation | undefined>('bodyPlace')

interface Entered {
  readonly place: BodyReservation
  onGiveWay(then: (why: Problem) => void): void
}

function enterRoom(request: FastifyRequest): Entered {
  let then = (_why: Problem): void => {}
  const place = room(request).enter(why => then(why))
  request.setDecorator('bodyPlace', place)
  return {
    place,
    onGiveWay(listener) {
      then = listener
    },
  }
}

/** For a body that has come without needing room. */
function enterSettled(request: FastifyRequest): BodyReservation {
  const { place } = enterRoom(request)
  place.settle()
  return place
}

function gather(payload: IncomingMessage, bytesMax: number, enter: () => Entered): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let received = 0
    let place: BodyReservation | undefined

    const onData = (chunk: Buffer): void => {
      chunks.push(chunk)
      received += chunk.length
      try {
        if (received > bytesMax) throw tooLarge()
        takeRoom(chunk.length)
      } catch (error) {
        stop(error as Problem)
      }
    }
    const takeRoom = (bytes: number): void => {
      if (place) place.take(bytes)
      else if (received > freeBodyBytes) enterWith(received)
    }
    const enterWith = (bytes: number): void => {
      const entered = enter()
      entered.onGiveWay(stop)
      place = entered.place
      place.take(bytes)
    }
    const onEnd = (): void => {
      detach()
      place?.settle()
      resolve(Buffer.concat(chunks, received))
    }
    const onGone = (): void => stop(cutShort())
    /** What else comes is read and thrown away. */
    function stop(why: Problem): void {
      detach()
      place?.leave()
      chunks.length = 0
      reject(why)
    }
    function detach(): void {
      payload.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone)
    }
    payload.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone)
    payload.resume()
  })
}
