import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type BodyMemoryBudget, type BodyReservation, freeBodyBytes } from '../../overload/body-memory-budget.ts'
import { Problem } from '../../problem.ts'
import type { SdkBodyMemory } from './sdk-body.ts'

const freeResponseCharacters = 1024 * 1024

const tooLarge = (bytesMax: number): Problem =>
  new Problem('too_large', `The request body is larger than ${bytesMax} bytes.`)
const incomplete = (): Problem => new Problem('unparsable', 'The request body is incomplete.')

/**
 * Replaces Fastify's own body parsing. Large bodies reserve memory until they are answered and are evicted when they are slow;
 * large responses reserve memory until they have been read.
 */
export function receiveBodies(app: FastifyInstance, bytesMax: number, budget: BodyMemoryBudget): void {
  app.decorate('bodyMemory', budget)
  app.decorateRequest('bodyReservation')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (request: FastifyRequest, payload: IncomingMessage, done: Done) => {
    const { bodyBytesMax = bytesMax } = request.routeOptions.config
    const limit = Math.min(bytesMax, bodyBytesMax)
    const received = receivedBodies.get(request.raw)
    if (received) done(null, received)
    else if (Number(request.headers['content-length']) > limit) done(tooLarge(limit))
    else collect(payload, limit, () => reserve(request), done)
  })
  app.addHook('onSend', async (_request, reply, payload) => {
    if (typeof payload === 'string') reserveResponse(budget, reply.raw, payload.length)
    return payload
  })
  app.addHook('onResponse', async request => reservationOf(request)?.release())
}

/** Memory for what a body inflates to, or for a response, until the request has been answered. */
export const bodyMemoryOf = (request: FastifyRequest): SdkBodyMemory => ({
  inflate: budgetOf(request).inflate,
  countInflate: budgetOf(request).countInflate,
  grow: bytes => (reservationOf(request) ?? reserveComplete(request)).grow(bytes),
  isGone: () => request.socket?.destroyed ?? false,
})

/**
 * Reserves memory for a large response until its client has read it. Texts reserve on their own; of bytes only the sender knows whether
 * they are shared by many responses. Raises `unavailable`.
 */
export function reserveResponse(budget: BodyMemoryBudget, response: ServerResponse, length: number): void {
  if (length <= freeResponseCharacters) return
  const reservation = budget.reserve(() => {})
  reservation.complete()
  reservation.grow(length)
  response.once('close', reservation.release)
}

const receivedBodies = new WeakMap<IncomingMessage, Buffer>()

/** For a request that was admitted and received before it came to Fastify. */
export const passOnBody = (request: IncomingMessage, body: Buffer): void => void receivedBodies.set(request, body)
export const isReceived = (request: IncomingMessage): boolean => receivedBodies.has(request)

const budgetOf = (request: FastifyRequest): BodyMemoryBudget =>
  request.server.getDecorator<BodyMemoryBudget>('bodyMemory')
const reservationOf = (request: FastifyRequest) => request.getDecorator<BodyReservation | undefined>('bodyReservation')

interface Reserved {
  readonly reservation: BodyReservation
  onEvicted(listener: (why: Problem) => void): void
}

function reserve(request: FastifyRequest): Reserved {
  let listener = (_why: Problem): void => {}
  const reservation = budgetOf(request).reserve(why => listener(why))
  request.setDecorator('bodyReservation', reservation)
  return {
    reservation,
    onEvicted(next) {
      listener = next
    },
  }
}

/** For a body that arrived without needing a reservation. */
function reserveComplete(request: FastifyRequest): BodyReservation {
  const { reservation } = reserve(request)
  reservation.complete()
  return reservation
}

type Done = (error: Error | null, body?: Buffer) => void

function collect(payload: IncomingMessage, bytesMax: number, reserveMemory: () => Reserved, done: Done): void {
  const chunks: Buffer[] = []
  let received = 0
  let reservation: BodyReservation | undefined

  const onData = (chunk: Buffer): void => {
    chunks.push(chunk)
    received += chunk.length
    try {
      if (received > bytesMax) throw tooLarge(bytesMax)
      if (reservation) reservation.grow(chunk.length)
      else if (received > freeBodyBytes) beginReservation()
    } catch (error) {
      stop(error as Problem)
    }
  }
  const beginReservation = (): void => {
    const reserved = reserveMemory()
    reserved.onEvicted(stop)
    reservation = reserved.reservation
    reservation.grow(received)
  }
  const onEnd = (): void => {
    detach()
    reservation?.complete()
    done(null, chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, received))
  }
  const onGone = (): void => stop(incomplete())
  /** What else arrives is discarded. */
  function stop(why: Problem): void {
    detach()
    reservation?.release()
    chunks.length = 0
    done(why)
  }
  function detach(): void {
    payload.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone)
  }
  payload.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone)
  payload.resume()
}
