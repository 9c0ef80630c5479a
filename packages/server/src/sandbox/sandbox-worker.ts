import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import type { FailureMessage, FromWorker, ToWorker, WorkerData } from './messages.ts'
import { createRealm, type Realm } from './realm.ts'
import { createProgress } from './run-progress.ts'

/** The code of a worker thread: it owns a number of realms and processes the main thread's messages in order. */

const { wasm, progress: progressBuffer } = workerData as WorkerData
const port = parentPort!
const progress = createProgress(progressBuffer)
const realms = new Map<number, Promise<Realm>>()
const niceness = 10
const outOfMemory: FailureMessage = {
  kind: 'crash',
  message: 'There is no memory left for a new realm.',
  realmLost: true,
}

const send = (message: FromWorker): void => port.postMessage(message)

port.on('message', (message: ToWorker) => {
  if (message.type === 'open') {
    const { realm: id, limits, scripts } = message
    const realm = createRealm({ id, wasm, limits, progress, send })
    realms.set(id, realm)
    realm.then(
      opened => opened.open(scripts),
      () => send({ type: 'failed', realm: id, failure: outOfMemory }),
    )
    return
  }
  realms.get(message.realm)?.then(realm => apply(realm, message), ignore)
})

/** A realm that could not be made has already been reported. */
function ignore(): void {}

function apply(realm: Realm, message: Exclude<ToWorker, { type: 'open' }>): void {
  switch (message.type) {
    case 'call':
      realm.call(message.json, message.cpuMsMax)
      break
    case 'hostAnswer':
      realm.hostAnswer(message.hostCall, message.json)
      break
    case 'hostFailure':
      realm.hostFailure(message.hostCall, message.message)
      break
    case 'close':
      realms.delete(message.realm)
      realm.dispose()
  }
}

// On Linux a priority belongs to the calling thread, so the service itself goes first whenever cores are scarce. On
// other systems the call would slow the whole process down.
if (process.platform === 'linux') setPriority(niceness)
