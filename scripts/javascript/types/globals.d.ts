// Classic scripts of the graph page, once lib/html.js has loaded them.
declare const Sigma: any;
declare const graphology: any;
