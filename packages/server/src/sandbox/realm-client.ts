import { AsyncLocalStorage } from 'node:async_hooks'
import type { FailureMessage, FromWorker, ToWorker } from './messages.ts'
import {
  type CallLimits,
  type SandboxAnswer,
  SandboxFailure,
  type SandboxHost,
  type SandboxLimits,
  type SandboxRealm,
  type SandboxScript,
} from './sandbox.ts'

/** The main thread's handle of a realm: its queue of calls, its clock, and the responses to its host calls. */
export interface RealmClient extends SandboxRealm {
  open(scripts: readonly SandboxScript[]): Promise<void>
  receive(message: FromWorker): void
  /** Ends the realm: the running call and all that wait for it fail. */
  lose(failure: SandboxFailure): void
  /** How long the code that is running now may run. */
  readonly cpuMsMax: number
}

interface RealmClientParts {
  id: number
  limits: SandboxLimits
  host: SandboxHost
  post(message: ToWorker): void
  /** Called once, when the realm has ended for whatever reason. */
  ended(): void
}

interface RunningCall {
  resolve(answer: SandboxAnswer): void
  reject(failure: SandboxFailure): void
  timer: NodeJS.Timeout
  cpuMsMax: number
  /** Runs a host call in the asynchronous context of the caller, which its trace belongs to. */
  inContext: (work: () => Promise<void>) => Promise<void>
}

export function createRealmClient({ id, limits, host, post, ended }: RealmClientParts): RealmClient {
  let running: RunningCall | undefined
  let loss: SandboxFailure | undefined
  let tail: Promise<unknown> = Promise.resolve()
  /** What the host calls of the running call have carried so far. */
  let hostCharacters = 0

  function run(message: ToWorker, { cpuMsMax, wallMsMax }: CallLimits): Promise<SandboxAnswer> {
    if (loss) return Promise.reject(loss)
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => lose(tookTooLong(wallMsMax)), wallMsMax)
      running = { resolve, reject, timer, cpuMsMax, inContext: AsyncLocalStorage.snapshot() }
      hostCharacters = 0
      host.callStarted?.()
      post(message)
    })
  }

  function take(): RunningCall | undefined {
    const call = running
    running = undefined
    clearTimeout(call?.timer)
    return call
  }

  function lose(failure: SandboxFailure): void {
    if (loss) return
    loss = failure
    post({ type: 'close', realm: id })
    ended()
    take()?.reject(failure)
  }

  function fail({ kind, message, guest, realmLost }: FailureMessage): void {
    const failure = new SandboxFailure(kind, message, guest)
    if (realmLost) lose(failure)
    else take()?.reject(failure)
  }

  function carry(json: string): void {
    hostCharacters += json.length
    if (hostCharacters > limits.hostCharactersMax) throw new Error('This call has used up its exchange with the host.')
  }

  async function answerHostCall(hostCall: number, name: string, json: string): Promise<void> {
    try {
      carry(json)
      const answer = JSON.stringify((await host.call(name, JSON.parse(json) as unknown[])) ?? null)
      carry(answer)
      if (answer.length > limits.messageCharactersMax) throw new Error('The answer is too large.')
      if (!loss) post({ type: 'hostAnswer', realm: id, hostCall, json: answer })
    } catch (error) {
      const message = error instanceof Error ? error.message : 'The host function failed.'
      if (!loss) post({ type: 'hostFailure', realm: id, hostCall, message })
    }
  }

  return {
    async open(scripts) {
      await run({ type: 'open', realm: id, scripts, limits }, limits)
    },
    call(request, callLimits) {
      const answer = tail.then(() => {
        const json = JSON.stringify(request) ?? 'null'
        if (json.length > limits.messageCharactersMax) throw new SandboxFailure('size', 'The request is too large.')
        const { cpuMsMax, wallMsMax } = { ...limits, ...callLimits }
        return run({ type: 'call', realm: id, json, cpuMsMax }, { cpuMsMax, wallMsMax })
      })
      tail = answer.catch(ignore)
      return answer
    },
    receive(message) {
      switch (message.type) {
        case 'log':
          host.log(message.lines)
          break
        case 'hostCall':
          void (running?.inContext ?? immediately)(() => answerHostCall(message.hostCall, message.name, message.json))
          break
        case 'done':
          take()?.resolve(answerOf(message))
          break
        case 'failed':
          fail(message.failure)
      }
    },
    lose,
    close: () => lose(new SandboxFailure('closed', 'The realm was closed.')),
    get lost() {
      return loss !== undefined
    },
    get cpuMsMax() {
      return running?.cpuMsMax ?? 0
    },
  }
}

function answerOf({ json, cpuMs, memoryBytes }: Extract<FromWorker, { type: 'done' }>): SandboxAnswer {
  return { value: JSON.parse(json), cpuMs, memoryBytes }
}

function tookTooLong(wallMsMax: number): SandboxFailure {
  return new SandboxFailure('wall_clock', `There was no answer within ${wallMsMax} ms.`)
}

/** For a host call that outlives its call. */
const immediately: RunningCall['inContext'] = work => work()

/** The caller has the same promise and deals with the failure; here it only ends the wait of the next call. */
function ignore(): void {}
