import type { JSValueHandle, QuickJS } from 'quickjs-wasi'
import type { CallBudget } from './call-budget.ts'
import { computeFunctions } from './compute.ts'
import type { GuestBridge } from './guest.ts'
import type { GuestError, SandboxLimits, SandboxLogLevel, SandboxLogLine } from './sandbox.ts'

/** Where the bridge's traffic goes. */
export interface BridgeOutlet {
  hostCall(id: number, name: string, json: string): void
  log(line: SandboxLogLine): void
  finish(json: string): void
  fail(error: GuestError): void
}

const levels: ReadonlySet<string> = new Set<SandboxLogLevel>(['debug', 'log', 'info', 'warn', 'error'])

/**
 * Builds the object of host functions that the guest is started with. This is the whole border: strings and numbers
 * come in, checked and counted; strings go back.
 */
export function createBridge(vm: QuickJS, limits: SandboxLimits, budget: CallBudget, outlet: BridgeOutlet) {
  const bridge = vm.newObject()
  const checkSize = (json: string): void => {
    if (json.length > limits.messageCharactersMax) throw refusal('The arguments are too large.')
  }
  const functions: Record<keyof GuestBridge, (...args: string[]) => string | undefined> = {
    hostCall(id = '', name = '', json = '') {
      checkSize(json)
      const refused = budget.takeHostCall()
      if (refused) throw refusal(refused)
      outlet.hostCall(Number(id), name, json)
      return undefined
    },
    compute(name = '', json = '') {
      checkSize(json)
      return compute(name, json)
    },
    log(level = '', text = '') {
      const line = budget.takeLogLine()
      if (line === 'kept') outlet.log(logLine(level, text, limits.logLineCharactersMax))
      if (line === 'first_left_out') outlet.log({ level: 'warn', text: 'Further lines of this call are left out.' })
      return undefined
    },
    finish(json = '') {
      outlet.finish(json)
      return undefined
    },
    fail(name = '', message = '', stack = '') {
      outlet.fail({ name, message, stack })
      return undefined
    },
  }
  for (const [name, answer] of Object.entries(functions)) {
    const fn = vm.newFunction(name, (...args) => {
      const result = answer(...args.map(readText))
      return result === undefined ? vm.undefined : vm.newString(result)
    })
    vm.setProp(bridge, name, fn)
    fn.dispose()
  }
  return bridge
}

/** Only primitives are read, because converting an object would run guest code in the middle of a host function. */
function readText(handle: JSValueHandle): string {
  if (handle.isString || handle.isNumber) return handle.toString()
  throw refusal('Only text can leave the realm.')
}

function compute(name: string, json: string): string {
  const fn = computeFunctions.get(name)
  if (!fn) throw refusal(`There is no function ${name}.`)
  try {
    return JSON.stringify(fn(...(JSON.parse(json) as unknown[])) ?? null)
  } catch (error) {
    throw refusal(error instanceof Error ? error.message : 'The function failed.')
  }
}

function logLine(level: string, text: string, charactersMax: number): SandboxLogLine {
  return {
    level: (levels.has(level) ? level : 'log') as SandboxLogLevel,
    text: text.length > charactersMax ? `${text.slice(0, charactersMax)}…` : text,
  }
}

/** An error for the guest without a stack, because a host stack would show paths of this machine. */
function refusal(message: string): Error {
  const error = new Error(message)
  error.stack = ''
  return error
}
