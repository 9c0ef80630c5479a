import { readConfig } from '../../config.ts'
import { reportError } from '../report-error.ts'
import { serve } from './serve.ts'

// For tests, which run this bundle in their own process.
export { createHalyard } from '../../main.ts'
export { readConfig }

/**
 * The server as a bundle of its own. Together with the other commands, its code would be split into many small files. Errors are reported
 * here, because the classes of another bundle are not the same.
 */
export async function runServer(): Promise<void> {
  try {
    await serve(readConfig(process.env))
  } catch (error) {
    reportError(error)
  }
}
