import Type from 'typebox'
import { open, routesOf } from '../route.ts'
import { Bool, NonEmptyTextInput } from '../schema.ts'

const route = routesOf('Sign-in')

export const passwordResetRoutes = {
  get: route.get('/api/password_reset', {
    operationId: 'getPasswordReset',
    summary: 'Get whether forgotten passwords can be reset by email',
    description: 'Without a mail server, run `halyard users reset-password` on the server.',
    access: open,
    responses: {
      200: Type.Object({
        by_email: Bool('Whether a mail server is configured.', true),
      }),
    },
  }),
  request: route.post('/api/password_reset', {
    operationId: 'requestPasswordReset',
    summary: 'Email a link that sets a new password',
    description: 'The response is the same for addresses without an account. Throttled by address (429).',
    access: open,
    body: Type.Object({
      email: NonEmptyTextInput(254, 'Email address of the user.', 'ada@example.com'),
    }),
    responses: { 202: null },
  }),
  complete: route.post('/api/password_reset/complete', {
    operationId: 'completePasswordReset',
    summary: 'Set a new password with the token of the link',
    description: 'The token works once, for 30 minutes. All sign-ins of the user end; a second factor is still needed.',
    access: open,
    body: Type.Object({
      token: Type.String({
        minLength: 43,
        maxLength: 43,
        description: 'The secret in the link.',
        examples: ['4Zr0mW9sT1uVxY2bC3dE5fG6hJ7kL8n0pQ1rS2tU3vW'],
      }),
      password: Type.String({
        minLength: 8,
        maxLength: 128,
        description: 'New password, at least 8 characters.',
        examples: ['correct horse battery staple'],
      }),
    }),
    responses: { 204: null },
  }),
}
