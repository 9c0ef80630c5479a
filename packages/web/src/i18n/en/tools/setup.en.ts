/** Messages of the SDK setup. */
export const setup = {
  setup: {
    title: 'SDK setup',
    intro: 'Connect an application, and see which SDKs call this project.',
    waiting: 'Waiting for the first call',
    waitingHint: 'Run a snippet below. This page updates as soon as a call arrives.',
    evaluated: 'Your app evaluates flags',
    evaluatedHint: 'Last evaluation:',
    received: 'First call received',
    receivedFrom: (sdk: string) => `Last call from ${sdk},`,
    connect: 'Connect',
    flagKey: 'Flag key in the snippets',
    flagKeyHint: 'The code of an existing flag, with its variants, is on its Code tab.',
    connected: 'Connected SDKs',
    connectedHint: 'Last 90 days',
    library: 'Library',
    version: 'Version',
    calls: 'Calls',
    lastSeen: 'Last seen',
  },
}

export type SetupMessages = typeof setup
