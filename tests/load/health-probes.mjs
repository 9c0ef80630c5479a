// A thread that sends health probes: clients that are busy themselves would measure their own delays.
import { connect } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'

const { port, millisecondsMax } = workerData

parentPort.on('message', async id => parentPort.postMessage({ id, milliseconds: await probe() }))
parentPort.postMessage('ready')

/** Milliseconds until the response of a new connection; undefined without one. */
function probe() {
  return new Promise(resolve => {
    const startedAt = performance.now()
    const socket = connect({ port, host: '127.0.0.1' })
    const end = value => {
      clearTimeout(timer)
      socket.destroy()
      resolve(value)
    }
    const timer = setTimeout(end, millisecondsMax, undefined)
    socket.on('connect', () => socket.write('GET /_livez HTTP/1.1\r\nHost: halyard\r\nConnection: close\r\n\r\n'))
    socket.once('data', data =>
      end(data.toString('latin1', 9, 12) === '200' ? performance.now() - startedAt : undefined),
    )
    socket.on('error', () => end(undefined))
  })
}
