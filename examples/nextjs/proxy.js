import { NextResponse } from 'next/server'

export function proxy(request) {
  if (request.cookies.has('visitor')) return NextResponse.next()
  const id = crypto.randomUUID()
  request.cookies.set('visitor', id)
  const response = NextResponse.next({ request })
  response.cookies.set('visitor', id, { httpOnly: true, sameSite: 'lax', maxAge: 31_536_000 })
  return response
}
