/** A socket of this pod, numbered by the shell; not reused after its close. */
export type SocketId = number;
